import {
  Eye,
  Globe,
  type LucideIcon,
  PencilLine,
  PenLine,
  Repeat2,
  ShieldQuestionMark,
  TriangleAlert,
} from 'lucide-react'
import type { Toolkit } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Badge } from '../../../ui/data/badge.tsx'

type Annotations = Toolkit['tools'][number]['annotations']

interface Claim {
  label: string
  says: string | undefined
  icon: LucideIcon
  className?: string
  /** Whether the badge is shown in short lists. */
  first?: boolean
}

/** Badges of the tool's annotations, which policy may ignore. */
export function claimsOf(annotations: Annotations): Claim[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {}
  const reads = readOnlyHint === true
  const claims: Array<Claim | false> = [
    destructiveHint === true && {
      label: 'Destructive',
      says: 'it may destroy something',
      icon: TriangleAlert,
      className: 'text-bad',
      first: true,
    },
    reads && { label: 'Read-only', says: 'it only reads', icon: Eye, className: 'text-good', first: true },
    !reads && destructiveHint === false && { label: 'Not destructive', says: 'it destroys nothing', icon: PencilLine },
    !reads &&
      readOnlyHint === false &&
      destructiveHint === undefined && { label: 'Writes', says: 'it changes things', icon: PencilLine },
    idempotentHint === true && { label: 'Idempotent', says: 'doing it twice changes nothing more', icon: Repeat2 },
    openWorldHint === true && { label: 'Open world', says: 'it reaches things outside of its server', icon: Globe },
  ]
  const made = claims.filter((claim) => claim !== false)
  return made.length > 0 ? made : [{ label: 'No claims', says: undefined, icon: ShieldQuestionMark }]
}

export function ToolBadges({ annotations, short = false }: { annotations: Annotations; short?: boolean }) {
  const claims = claimsOf(annotations).filter(({ first }) => !short || first)
  return claims.map(({ label, says, icon: Icon, className }) => (
    <Badge key={label} title={says ? `Its server claims: ${says}` : 'Its server does not say what it does'}>
      <Icon aria-hidden className={cn('size-3', className)} />
      {label}
    </Badge>
  ))
}

/** Badge for overridden fields. */
export function OverriddenMark({ changed }: { changed: readonly string[] }) {
  if (changed.length === 0) return null
  return (
    <Badge title={`Not its server’s: ${changed.join(', ')}`}>
      <PenLine aria-hidden className="size-3" /> Overridden
    </Badge>
  )
}
