import { Link, type LinkProps } from '@tanstack/react-router'
import { Unlink } from 'lucide-react'
import { problemOf } from '../../lib/api.ts'
import { Empty } from '../../ui/data/empty.tsx'

/** Whether the error is a 404, which a retry does not fix. */
export const isNotFound = (error: unknown): boolean =>
  error !== null && error !== undefined && problemOf(error).status === 404

interface NotFoundProps {
  /** Noun of the item, such as "thread". */
  noun: string
  to: LinkProps['to']
  /** Link label, such as "Go to threads". */
  label: string
}

/** Shown in place of a deleted item. */
export function NotFound({ noun, to, label }: NotFoundProps) {
  return (
    <Empty
      icon={Unlink}
      title={`This ${noun} is gone`}
      action={
        <Link to={to} className="text-sm font-medium text-accent underline underline-offset-4">
          {label}
        </Link>
      }
    >
      It was deleted, here or elsewhere, or the address is not whole.
    </Empty>
  )
}
