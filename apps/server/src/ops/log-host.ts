/** Logs host events of toolkits. Events that need a fix are warnings. */
import type { HostServices } from '@loadout/core/services'
import type { Log } from './log.ts'

export function logHost(host: HostServices, log: Log): void {
  host.events.on('source-broken', ({ type: _, userId: _user, ...problem }) =>
    log.warn(problem, 'a file of toolkits is broken'),
  )
  host.events.on('toolkits-resolved', ({ type: _, ...resolution }) => {
    const { missing, failed, dropped, warnings } = resolution
    const isWhole = missing.length + failed.length + dropped.length + warnings.length === 0
    log[isWhole ? 'info' : 'warn'](resolution, 'toolkits resolved')
  })
  // Error text of a server is visible to its owner only, so the log has just the code.
  host.events.on('state-changed', ({ userId, toolkit, uscoId, state }) => {
    if (state.status === 'error') log.warn({ userId, toolkit, uscoId, code: state.code }, 'a server failed')
  })
}
