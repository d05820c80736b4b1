import type { listToolkits } from './client.ts'

type Listed = Awaited<ReturnType<typeof listToolkits>>['toolkits'][number]

/** A line for each server that is connected, starts or has failed. */
export function startReports(toolkits: ReadonlyArray<Pick<Listed, 'id' | 'state' | 'toolCount'>>): string[] {
  return toolkits.flatMap(({ id, state, toolCount }) => {
    const { status, code, reason, action, phase, lastLine } = state
    if (status === 'connected') return [`${id} is connected: ${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}`]
    if (status === 'connecting' && phase !== undefined)
      return [`${id} is ${phase}${lastLine === undefined ? '' : `: ${lastLine}`}`]
    if (status === 'error') return [`${id} failed (${code}): ${reason} ${action}`]
    return reason === undefined ? [] : [`${id} is ${status}: ${reason}${action === undefined ? '' : ` ${action}`}`]
  })
}
