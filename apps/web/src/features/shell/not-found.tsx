import { Link, type LinkProps } from '@tanstack/react-router'
import { Unlink } from 'lucide-react'
import { problemOf } from '../../lib/api.ts'
import { Empty } from '../../ui/data/empty.tsx'

/** Whether it is not there any more, or never was: trying again does not help. */
export const isNotFound = (error: unknown): boolean =>
  error !== null && error !== undefined && problemOf(error).status === 404

interface NotFoundProps {
  /** "thread" */
  noun: string
  to: LinkProps['to']
  /** "Go to threads" */
  label: string
}

/** In place of something that was deleted, perhaps elsewhere while it was open here. */
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
