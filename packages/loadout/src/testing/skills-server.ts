/** A server of the official SDK over stdio that offers skills: `node skills-server.ts`, or none: `node skills-server.ts none`. */
import { McpServer } from '@modelcontextprotocol/server'
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const skills = await SkillsExtension.load(
  memorySkillFiles({
    'letters/SKILL.md': '---\nname: letters\ndescription: How we write letters.\n---\nShort, and to the point.\n',
    'letters/references/FORMS.md': '# Forms\n',
    // More bytes than a function takes arguments.
    'letters/assets/seal.png': Uint8Array.from({ length: 300_000 }, (_, index) => index % 251),
  }),
)
serveStdio(() => {
  const server = new McpServer({ name: 'skilled', version: '1.0.0' })
  if (process.argv[2] !== 'none') skills.attach(server)
  return server
})
