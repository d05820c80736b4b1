import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { loadout } from './loadout.ts'

const app = new Hono()
app.get('/', (c) => c.text('The app itself.'))
app.all('/tools/*', (c) => loadout.fetch(c.req.raw))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => console.error(`Listening on ${port}`))
