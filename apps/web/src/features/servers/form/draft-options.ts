/** Toolkit options as form state. Only changed options are sent, so that defaults stay defaults. */
import type { Toolkit, ToolkitBody } from '../../../lib/api.ts'

export const TIMEOUTS = ['connectMs', 'introspectMs', 'callMs', 'totalMs'] as const
export type TimeoutName = (typeof TIMEOUTS)[number]
export type Callers = 'both' | 'direct' | 'code'
export type Protocol = NonNullable<Toolkit['options']['protocol']>

export interface OptionsDraft {
  account: string
  /** One pattern per line. */
  include: string
  exclude: string
  deferLoading: boolean
  callers: Callers
  untrusted: boolean
  protocol: Protocol
  /** In seconds; '' uses the default. */
  connectMs: string
  introspectMs: string
  callMs: string
  totalMs: string
}

export const emptyOptions = (): OptionsDraft => ({
  account: '',
  include: '',
  exclude: '',
  deferLoading: true,
  callers: 'both',
  untrusted: false,
  protocol: 'auto',
  connectMs: '',
  introspectMs: '',
  callMs: '',
  totalMs: '',
})

export function optionsOf({ options }: Pick<Toolkit, 'options'>): OptionsDraft {
  const { timeouts, allowedCallers } = options
  const seconds = (name: TimeoutName) => (timeouts[name] === undefined ? '' : String(timeouts[name] / 1000))
  return {
    account: options.account ?? '',
    include: options.include.join('\n'),
    exclude: options.exclude.join('\n'),
    deferLoading: options.deferLoading,
    callers: allowedCallers.length > 1 ? 'both' : (allowedCallers[0] ?? 'both'),
    untrusted: options.untrusted,
    protocol: options.protocol ?? 'auto',
    connectMs: seconds('connectMs'),
    introspectMs: seconds('introspectMs'),
    callMs: seconds('callMs'),
    totalMs: seconds('totalMs'),
  }
}

/** Changed options as an API body. */
export function changedOptions(now: OptionsDraft, stored: OptionsDraft): ToolkitBody {
  const changed = (...names: Array<keyof OptionsDraft>) => names.some((name) => now[name] !== stored[name])
  return {
    ...(changed('account') ? { account: now.account.trim() } : {}),
    ...(changed('include') ? { include: lines(now.include) } : {}),
    ...(changed('exclude') ? { exclude: lines(now.exclude) } : {}),
    ...(changed('deferLoading') ? { deferLoading: now.deferLoading } : {}),
    ...(changed('callers') ? { allowedCallers: now.callers === 'both' ? ['direct', 'code'] : [now.callers] } : {}),
    ...(changed('untrusted') ? { untrusted: now.untrusted } : {}),
    ...(changed('protocol') ? { protocol: now.protocol } : {}),
    ...(changed(...TIMEOUTS) ? { timeouts: timeoutsOf(now) } : {}),
  }
}

/** Whether the text is empty or a positive number of seconds. */
export const isSeconds = (text: string): boolean => text.trim() === '' || Number(text) > 0

const timeoutsOf = (options: OptionsDraft) =>
  Object.fromEntries(
    TIMEOUTS.filter((name) => options[name].trim() !== '').map((name) => [
      name,
      Math.round(Number(options[name]) * 1000),
    ]),
  )

export const lines = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
