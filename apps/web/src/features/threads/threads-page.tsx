import { Page } from '../../ui/page.tsx'

export function ThreadsPage() {
  return <Page title="Threads">{null}</Page>
}
