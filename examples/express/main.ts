import { toNodeHandler } from '@loadout/server/node'
import express from 'express'
import { loadout } from './loadout.ts'

const app = express()
app.use(express.json())
app.get('/', (_request, response) => {
  response.send('The app itself.')
})
app.use('/tools', toNodeHandler(loadout))

const port = Number(process.env.PORT ?? 3000)
app.listen(port, () => console.error(`Listening on ${port}`))
