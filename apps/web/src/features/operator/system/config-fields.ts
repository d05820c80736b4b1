/** App configuration as form fields, and form drafts as patches. */
import type { AppConfig, AppConfigPatch } from '../queries.ts'

export type FieldKind = 'switch' | 'number' | 'text' | 'lines'
export interface ConfigField {
  /** `section.field`, as in API errors. */
  path: string
  label: string
  hint: string
  kind: FieldKind
}
export interface ConfigSection {
  title: string
  note: string
  fields: readonly ConfigField[]
}

export const CONFIG_SECTIONS: readonly ConfigSection[] = [
  {
    title: 'Limits',
    note: 'Ceilings: users and threads may set less, and never more. An empty field is no limit.',
    fields: [
      { path: 'limits.maxCallsPerHour', label: 'Calls an hour', hint: 'Of one user.', kind: 'number' },
      { path: 'limits.maxTokensPerDay', label: 'Tokens a day', hint: 'Of one user.', kind: 'number' },
      { path: 'limits.maxCallsPerRun', label: 'Calls in a run', hint: 'Of a program or a workflow.', kind: 'number' },
      {
        path: 'limits.concurrencyPerToolkit',
        label: 'At once to one server',
        hint: 'Calls of one user.',
        kind: 'number',
      },
      { path: 'limits.concurrencyPerUser', label: 'At once in all', hint: 'Calls of one user.', kind: 'number' },
      {
        path: 'limits.maxStepsPerAnswer',
        label: 'Steps of one answer',
        hint: 'Of a chat, or of an agent in a workflow.',
        kind: 'number',
      },
      {
        path: 'limits.maxTokensPerAnswer',
        label: 'Tokens of one answer',
        hint: 'Of a chat, or of an agent in a workflow.',
        kind: 'number',
      },
      { path: 'limits.callMs', label: 'Longest call (ms)', hint: 'Whatever its server says.', kind: 'number' },
      { path: 'limits.argumentBytes', label: 'Largest arguments (bytes)', hint: 'Empty sets it back.', kind: 'number' },
      {
        path: 'limits.resultBytes',
        label: 'Result handed on whole (bytes)',
        hint: 'Larger ones are kept, and a preview is given. Empty sets it back.',
        kind: 'number',
      },
    ],
  },
  {
    title: 'Trust',
    note: 'What a server that is not trusted claims of its tools relaxes nothing, and its new tools start off.',
    fields: [
      {
        path: 'trust.userToolkits',
        label: 'Trust the servers that users bring',
        hint: 'Off: their tools are asked about.',
        kind: 'switch',
      },
      {
        path: 'trust.untrusted',
        label: 'Servers that are not trusted',
        hint: 'Globs over their ids, one a line.',
        kind: 'lines',
      },
    ],
  },
  {
    title: 'Defaults',
    note: 'For servers that say nothing of their own.',
    fields: [
      {
        path: 'defaults.deferLoading',
        label: 'Load tools when they are needed',
        hint: 'Off: every tool is in every conversation.',
        kind: 'switch',
      },
      {
        path: 'defaults.deferAboveTokens',
        label: 'Defer tools above (tokens)',
        hint: 'Smaller loadouts send all tools. 0 always defers.',
        kind: 'number',
      },
      {
        path: 'defaults.enableProgrammaticCalling',
        label: 'Programs may call tools',
        hint: 'Where a server does not say who may.',
        kind: 'switch',
      },
    ],
  },
  {
    title: 'Custom toolkits',
    note: 'What the code of custom toolkits may reach.',
    fields: [
      {
        path: 'customToolkits.hosts',
        label: 'Hosts for fetch',
        hint: 'One a line, for example api.example.com or *.example.com. A tool must name them too.',
        kind: 'lines',
      },
    ],
  },
  {
    title: 'Audit log',
    note: 'For how long it is kept.',
    fields: [{ path: 'audit.retentionDays', label: 'Days', hint: 'Empty keeps it for ever.', kind: 'number' }],
  },
]

/** Values by section and field. */
export type ConfigDraft = Readonly<Record<string, Readonly<Record<string, string | boolean>>>>

const FIELDS = CONFIG_SECTIONS.flatMap(({ fields }) => fields)

export function configDraft(config: AppConfig): ConfigDraft {
  const draft: Record<string, Record<string, string | boolean>> = {}
  for (const { path, kind } of FIELDS) {
    const [section = '', field = ''] = path.split('.')
    draft[section] = { ...draft[section], [field]: toDraftValue(at(config, path), kind) }
  }
  return draft
}

function toDraftValue(value: unknown, kind: FieldKind): string | boolean {
  if (kind === 'switch') return value === true
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : ''
  return value === undefined || value === null ? '' : String(value)
}

/** Patch with changed fields only. Invalid numbers are sent as text, so that the API names the field. */
export function patchOf(draft: ConfigDraft, before: ConfigDraft): AppConfigPatch {
  const patch: Record<string, Record<string, unknown>> = {}
  for (const { path, kind } of FIELDS) {
    const [section = '', field = ''] = path.split('.')
    const value = draft[section]?.[field]
    if (value === before[section]?.[field] || value === undefined) continue
    patch[section] = { ...patch[section], [field]: toPatchValue(value, kind) }
  }
  return patch as AppConfigPatch
}

function toPatchValue(value: string | boolean, kind: FieldKind): unknown {
  if (typeof value === 'boolean') return value
  const text = value.trim()
  if (kind === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
  if (text === '') return null
  const number = Number(text)
  return kind === 'number' && Number.isFinite(number) ? number : text
}

const at = (config: object, path: string): unknown => {
  const [section = '', field = ''] = path.split('.')
  return (config as Record<string, Record<string, unknown> | undefined>)[section]?.[field]
}

/** Values by `section.field`. */
export const valuesByPath = (draft: ConfigDraft): Record<string, unknown> =>
  Object.fromEntries(FIELDS.map(({ path }) => [path, at(draft, path)]))
