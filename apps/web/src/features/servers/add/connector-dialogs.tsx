import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { draftOf, emptyDraft } from '../form/draft.ts'
import { ADD_BUTTON, focusFirst, YOURS } from '../form/focus-restore.ts'
import { menuId, openerId } from '../list/row-actions.ts'
import { needsToken } from '../list/toolkit-state.tsx'
import type { AddMode } from './dialog-search.ts'
import type { useOlderConfig } from './legacy-config.tsx'

const route = getRouteApi('/shell/connectors')
// Forms are large and open seldom, so they are not part of the first page.
const ToolkitDialog = lazy(() => import('./toolkit-dialog.tsx').then((module) => ({ default: module.ToolkitDialog })))
const QuestionDialog = lazy(() =>
  import('../tools/input-dialog.tsx').then((module) => ({ default: module.QuestionDialog })),
)

interface ConnectorDialogsProps {
  toolkits: readonly Toolkit[]
  older: ReturnType<typeof useOlderConfig>
}

/** The dialog of the URL search parameters. */
export function ConnectorDialogs(props: ConnectorDialogsProps) {
  return (
    <Suspense fallback={null}>
      <OpenDialog {...props} />
    </Suspense>
  )
}

function OpenDialog({ toolkits, older }: ConnectorDialogsProps) {
  const { add, edit, answer } = route.useSearch()
  const navigate = route.useNavigate()
  const onClose = () =>
    navigate({ search: ({ open, q, status }) => ({ open, q, status }), resetScroll: false, replace: true })
  const yours = toolkits.filter((toolkit) => !toolkit.readOnly)
  const { toolkit, isThere } = useEdited(yours, edit, onClose)
  const asking = toolkits.find(({ uscoId }) => uscoId === answer)
  if (asking) return <QuestionDialog toolkit={asking} onClose={onClose} onClosed={() => focusFirst(openerId(asking))} />
  if (add)
    return (
      <ToolkitDialog
        initial={emptyDraft(add === 'http' ? 'http' : 'stdio')}
        mode={add}
        onMode={(mode) => navigate({ search: (old) => ({ ...old, add: mode }), resetScroll: false, replace: true })}
        pasted={add === 'paste' ? older.offered?.text : undefined}
        others={yours}
        onClose={onClose}
        onClosed={() => focusFirst(ADD_BUTTON)}
        onImported={older.offered ? older.remove : undefined}
      />
    )
  if (!toolkit) return null
  return (
    <ToolkitDialog
      key={toolkit.uscoId}
      isGone={!isThere}
      initial={needsToken(toolkit) ? { ...draftOf(toolkit), authType: 'bearer' } : draftOf(toolkit)}
      mode={modeOf(toolkit)}
      toolkit={toolkit}
      others={yours.filter((other) => other !== toolkit)}
      onClose={onClose}
      onClosed={() => focusFirst(menuId(toolkit), YOURS)}
    />
  )
}

/**
 * The edited toolkit. If it is deleted elsewhere, the form keeps it with the typed text; an unknown id closes the
 * dialog.
 */
function useEdited(yours: readonly Toolkit[], edit: string | undefined, onNone: () => void) {
  const [last, setLast] = useState<Toolkit>()
  const found = yours.find(({ uscoId }) => uscoId === edit)
  if (found && found !== last) setLast(found)
  const toolkit = found ?? (last?.uscoId === edit ? last : undefined)
  const isNone = edit !== undefined && toolkit === undefined
  const leave = useRef(onNone)
  leave.current = onNone
  useEffect(() => {
    if (isNone) leave.current()
  }, [isNone])
  return { toolkit, isThere: found !== undefined }
}

const modeOf = ({ server }: Toolkit): AddMode => (server.type === 'stdio' ? 'stdio' : 'http')
