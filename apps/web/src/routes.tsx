/** Every page and its address. A page that is added here also gets a line in `features/shell/pages.ts`. */
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { BrokenPage, NotFoundPage } from './features/shell/fallback-pages.tsx'
import { Shell } from './features/shell/shell.tsx'
import { ConnectorsPage } from './features/toolkits/connectors-page.tsx'
import { readDialog } from './features/toolkits/dialog-search.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage, errorComponent: BrokenPage })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/connectors', replace: true })
  },
})

const connectors = createRoute({
  getParentRoute: () => root,
  path: '/connectors',
  validateSearch: readDialog,
  component: ConnectorsPage,
  errorComponent: BrokenPage,
})

export const createAppRouter = () =>
  createRouter({ routeTree: root.addChildren([home, connectors]), scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
