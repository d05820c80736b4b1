import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './lib/api.ts'
import { configureCsp } from './lib/csp.ts'
import { createAppRouter } from './routes.tsx'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no element "root".')

configureCsp()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={createAppRouter()} />
    </QueryClientProvider>
  </StrictMode>,
)
