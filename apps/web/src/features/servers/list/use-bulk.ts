/** Bulk actions over servers, four requests at a time; each response updates the list. */
import { useRef, useState } from 'react'
import { toast } from 'sonner'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { byId, useToolkitList } from '../use-toolkits.ts'

const AT_ONCE = 4
const MAX_NAMES = 5

export type BulkAction = 'on' | 'off' | 'refresh' | 'delete'

const LABELS: Record<BulkAction, { doing: string; done: string }> = {
  on: { doing: 'Turning on', done: 'turned on' },
  off: { doing: 'Turning off', done: 'turned off' },
  refresh: { doing: 'Refreshing', done: 'refreshed' },
  delete: { doing: 'Deleting', done: 'deleted' },
}

/** The servers that an action changes. */
export function selectTargets(action: BulkAction, toolkits: readonly Toolkit[]): Toolkit[] {
  if (action === 'on') return toolkits.filter(({ enabled }) => !enabled)
  if (action === 'off') return toolkits.filter(({ enabled }) => enabled)
  if (action === 'refresh') return toolkits.filter(({ enabled }) => enabled)
  return toolkits.filter(({ readOnly }) => !readOnly)
}

export interface Bulk {
  /** `Refreshing 12 of 80 servers` while it runs. */
  progress: string | undefined
  run: (action: BulkAction, toolkits: readonly Toolkit[]) => Promise<void>
}

export function useBulk(): Bulk {
  const list = useToolkitList()
  const [progress, setProgress] = useState<string>()
  const isBusy = useRef(false)
  const run = async (action: BulkAction, toolkits: readonly Toolkit[]) => {
    const waiting = selectTargets(action, toolkits)
    const total = waiting.length
    if (isBusy.current || total === 0) return
    isBusy.current = true
    const failed: string[] = []
    const showProgress = () =>
      setProgress(`${LABELS[action].doing} ${total - waiting.length} of ${counted(total, 'server')}`)
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        showProgress()
        const saved = await send(action, next).catch(() => undefined)
        if (saved === undefined || saved.state.status === 'error') failed.push(next.name)
        if (saved) list.put(saved)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    isBusy.current = false
    setProgress(undefined)
    await list.refresh()
    toastOutcome(action, total, failed)
  }
  return { progress, run }
}

function toastOutcome(action: BulkAction, total: number, failed: readonly string[]): void {
  const done = `${counted(total - failed.length, 'server')} ${LABELS[action].done}`
  if (failed.length === 0) return void toast.success(done)
  const more = failed.length > MAX_NAMES ? ` and ${failed.length - MAX_NAMES} more` : ''
  toast.error(`${done}, ${failed.length} failed`, { description: `${failed.slice(0, MAX_NAMES).join(', ')}${more}` })
}

/** Returns the updated server, or the deleted one unchanged. */
async function send(action: BulkAction, toolkit: Toolkit): Promise<Toolkit> {
  const route = client.api.mcp[':id']
  if (action === 'refresh') return answer(route.introspect.$post({ ...byId(toolkit), query: { reconnect: 'false' } }))
  if (action !== 'delete') return answer(route.$patch({ ...byId(toolkit), json: { enabled: action === 'on' } }))
  await answer(route.$delete(byId(toolkit)))
  return { ...toolkit, state: { status: 'disabled' } }
}
