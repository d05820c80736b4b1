/** Resources and prompts: asked for when they are wanted, through the same connections; nothing of them is stored. */

import type { Connection, SkillAddress } from '../connections/connection.ts'
import type { Connector } from '../connections/connector.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Registry } from '../toolkits/registry.ts'
import { assertEnabled } from '../toolkits/stored-toolkit.ts'

export interface Resources {
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  read(userId: string, toolkit: string, uri: string): Promise<JsonObject>
}

export interface Skills {
  /** Their entries; no file of them is asked for. */
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  /** One file, held against its entry. */
  read(userId: string, toolkit: string, address: SkillAddress): Promise<JsonObject>
}

export interface Prompts {
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  get(userId: string, toolkit: string, prompt: { name: string; arguments: Record<string, string> }): Promise<JsonObject>
}

const WAIT = { timeoutMs: 30_000, totalMs: 60_000 }

export function createResources(parts: { registry: Pick<Registry, 'find'>; connector: Connector }): {
  resources: Resources
  prompts: Prompts
  skills: Skills
} {
  const use = async <T>(userId: string, toolkit: string, work: (connection: Connection) => Promise<T>): Promise<T> =>
    parts.connector.use(assertEnabled(await parts.registry.find(userId, toolkit)), userId, { repeatable: true, work })
  const list = (kind: 'resources' | 'prompts') => (userId: string, toolkit: string) =>
    use(userId, toolkit, async (connection) => (await connection.list(kind, WAIT)).items.filter(isObject))
  return {
    resources: {
      list: list('resources'),
      read: (userId, toolkit, uri) => use(userId, toolkit, (connection) => connection.readResource(uri, WAIT)),
    },
    skills: {
      list: (userId, toolkit) => use(userId, toolkit, (connection) => connection.listSkills(WAIT)),
      read: (userId, toolkit, address) => use(userId, toolkit, (connection) => connection.readSkill(address, WAIT)),
    },
    prompts: {
      list: list('prompts'),
      get: (userId, toolkit, prompt) => use(userId, toolkit, (connection) => connection.getPrompt(prompt, WAIT)),
    },
  }
}

const isObject = (item: unknown): item is JsonObject => typeof item === 'object' && item !== null
