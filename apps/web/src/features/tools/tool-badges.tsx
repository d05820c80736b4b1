/** What a server claims of a tool. Claims: the words say so where there is room for it. */
import { Eye, Globe, Repeat, TriangleAlert } from 'lucide-react'
import { Badge } from '../../ui/badge.tsx'
import type { Tool } from './tool-rows.ts'

export function AnnotationBadges({ tool: { annotations }, short = false }: { tool: Tool; short?: boolean }) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {}
  if (!short && !(readOnlyHint || destructiveHint || idempotentHint || openWorldHint))
    return <Badge>Its server claims nothing of it</Badge>
  return (
    <>
      {readOnlyHint && (
        <Badge className="border-transparent bg-good-soft text-good">
          <Eye aria-hidden className="size-3" /> Read-only
        </Badge>
      )}
      {!readOnlyHint && destructiveHint && (
        <Badge className="border-transparent bg-bad-soft text-bad">
          <TriangleAlert aria-hidden className="size-3" /> Destructive
        </Badge>
      )}
      {!short && idempotentHint && (
        <Badge>
          <Repeat aria-hidden className="size-3" /> Idempotent
        </Badge>
      )}
      {!short && openWorldHint && (
        <Badge>
          <Globe aria-hidden className="size-3" /> Open world
        </Badge>
      )}
    </>
  )
}
