import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { problemOf } from '../../lib/api.ts'
import { Notice } from '../../ui/data/notice.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Page } from '../../ui/layout/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="There is no such page" description="The address may be mistyped, or the page has moved.">
      <p>
        <Link to="/connectors" className="font-medium text-accent underline underline-offset-4">
          Go to MCP servers
        </Link>
      </p>
    </Page>
  )
}

/** Error boundary of a page; the shell around it still works. */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter()
  const { detail, requestId } = problemOf(error)
  return (
    <Page title="This page broke">
      <Notice title="Something went wrong here" detail={detail} action="Try again, or reload." reference={requestId}>
        <p className="mt-2">
          <Button size="small" onClick={() => router.invalidate()}>
            Try again
          </Button>
        </p>
      </Notice>
    </Page>
  )
}
