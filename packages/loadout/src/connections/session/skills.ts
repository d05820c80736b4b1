/** Lists a server's skills (SEP-2640) and verifies every file against its entry. */
import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import type { Skill, SkillFile, SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { toBase64 } from '../../credentials/aes.ts'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { SkillAddress } from '../connection.ts'
import { protocolError } from '../errors.ts'

export async function listSkills(client: Client, options: RequestOptions): Promise<JsonObject[]> {
  const skillsClient = await createSkillsClient(client)
  // Without this check the SDK logs to the app's console.
  if (!skillsClient.supported) return []
  const { skills } = await skillsClient.list({}, options)
  return skills as unknown as JsonObject[]
}

export async function readSkill(client: Client, address: SkillAddress, options: RequestOptions): Promise<JsonObject> {
  const { SkillVerificationError } = await import('@modelcontextprotocol/client/ext/skills')
  const skills = await createSkillsClient(client)
  if (!skills.supported)
    throw new HostError('invalid-input', {
      detail: 'The server offers no skills.',
      errors: [{ path: 'skill', message: 'is of a server that offers none' }],
    })
  try {
    const entry = await findSkill(skills, address.skill, options)
    return toFileJson(await skills.read(entry, address.file, options))
  } catch (error) {
    if (!(error instanceof SkillVerificationError)) throw error
    throw protocolError(`The file of the skill is not what the server lists of it (${error.reason}).`, error)
  }
}

async function findSkill(skills: SkillsClient, uri: string, options: RequestOptions): Promise<Skill> {
  const listed = (await skills.list({}, options)).skills.find((skill) => skill.uri === uri)
  return listed ?? (await skills.get(uri, options)).skill
}

async function createSkillsClient(client: Client): Promise<SkillsClient> {
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills')
  return new SkillsClient(client, { skipInvalid: true })
}

function toFileJson({ uri, mimeType, bytes, text, verified, frontmatter, body }: SkillFile): JsonObject {
  return {
    uri,
    verified,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(text === undefined ? { blob: toBase64(bytes) } : { text }),
    ...(frontmatter === undefined ? {} : { frontmatter }),
    ...(body === undefined ? {} : { body }),
  }
}
