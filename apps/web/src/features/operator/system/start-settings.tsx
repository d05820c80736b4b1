import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import { type StartSettings as Settings, startSettingsQuery } from '../queries.ts'
import { Loading, Section } from '../section.tsx'

const STDIO = {
  off: 'None: users connect to servers by URL.',
  templates: 'Only those that you prepared.',
  sandbox: 'Any, each in a sandbox.',
  on: 'Any, as this server’s own user.',
} as const

/** Read-only settings from the server's environment. */
export function StartSettingsList() {
  const { data, error } = useQuery(startSettingsQuery())
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading what the server was started with" />
  return (
    <Section
      title="How the server was started"
      note="Set by its environment, and changed with a restart. The configuration guide names each setting."
    >
      <dl className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        <Fact name="Mode">
          {data.mode === 'multi-user' ? 'Many users, who sign in' : 'Local: one user, without sign-in'}
        </Fact>
        <Fact name="Data">{data.storage}</Fact>
        <Fact name="Commands that users may bring" setting="LOADOUT_STDIO">
          {data.stdio ? STDIO[data.stdio] : 'As the app decides.'}
        </Fact>
        <Templates templates={data.templates} />
        <Fact name="Private network" setting="LOADOUT_PRIVATE_NETWORK">
          {data.privateNetwork ? 'Servers in it are reached.' : 'Servers in it are not reached'}
          {!data.privateNetwork && (data.privateHosts.length > 0 ? `, but ${data.privateHosts.join(', ')}.` : '.')}
        </Fact>
        {data.programs && (
          <Fact name="Programs" setting="LOADOUT_PROGRAMS">
            {data.programs === 'off' ? 'None are run.' : `Each in a sandbox: ${data.programs}.`}
          </Fact>
        )}
        <Models model={data.model} models={data.models} />
        <Ceiling {...data.ceiling} />
        {data.approvalMs !== undefined && (
          <Fact name="A question stays open for">{formatLongDuration(data.approvalMs)}</Fact>
        )}
      </dl>
    </Section>
  )
}

function Templates({ templates }: Pick<Settings, 'templates'>) {
  if (templates.length === 0) return null
  return (
    <Fact name="Prepared commands" setting="LOADOUT_STDIO_TEMPLATES">
      <ul className="grid gap-1">
        {templates.map(({ id, command, args }) => (
          <li key={id} className="wrap-anywhere">
            {id}: <code className="font-mono text-[0.8125rem]">{[command, ...args].join(' ')}</code>
          </li>
        ))}
      </ul>
    </Fact>
  )
}

/** Models that app keys may be used for. */
function Models({ model, models }: Pick<Settings, 'model' | 'models'>) {
  return (
    <>
      <Fact name="Model where none is named" setting="LOADOUT_MODEL">
        {model ? <code className="font-mono text-[0.8125rem] wrap-anywhere">{model}</code> : 'None.'}
      </Fact>
      <Fact name="Further models on your keys" setting="LOADOUT_MODELS">
        {models.length === 0 ? (
          'None: with a key of their own, users ask any.'
        ) : (
          <code className="font-mono text-[0.8125rem] wrap-anywhere">{models.join(', ')}</code>
        )}
      </Fact>
    </>
  )
}

/** Stored limits can only be lower than these. */
function Ceiling({ maxSteps, budget }: Settings['ceiling']) {
  return (
    <>
      <Fact name="Steps of an answer, at most" setting="LOADOUT_MAX_STEPS_PER_ANSWER">
        {maxSteps === undefined
          ? 'As your limits say.'
          : `${maxSteps.toLocaleString('en')}; your limits can only tighten it.`}
      </Fact>
      <Fact name="Tokens of an answer, at most" setting="LOADOUT_MAX_TOKENS_PER_ANSWER">
        {budget === undefined
          ? 'As your limits say.'
          : `${budget.toLocaleString('en')}; your limits can only tighten it.`}
      </Fact>
    </>
  )
}

function Fact({ name, setting, children }: { name: string; setting?: string; children: ReactNode }) {
  return (
    <div className="grid gap-x-4 gap-y-0.5 px-4 py-3 text-sm sm:grid-cols-[16rem_minmax(0,1fr)] sm:px-5">
      <dt className="grid content-start">
        <span className="font-medium">{name}</span>
        {setting && <code className="font-mono text-xs text-ink-faint">{setting}</code>}
      </dt>
      <dd className="min-w-0 text-ink-muted">{children}</dd>
    </div>
  )
}

const DAY_MS = 86_400_000
const formatLongDuration = (ms: number) => (ms >= DAY_MS ? `${Math.round(ms / DAY_MS)} days` : formatDuration(ms))
