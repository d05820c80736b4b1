/** `node official-stdio.ts <legacy|modern|both>` */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { makeServer } from './official.ts'

if (process.argv[2] === 'legacy') await makeServer().connect(new StdioServerTransport())
else serveStdio(makeServer, { legacy: process.argv[2] === 'modern' ? 'reject' : 'serve' })
