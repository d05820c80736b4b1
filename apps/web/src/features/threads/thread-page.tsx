import { Page } from '../../ui/page.tsx'

export function ThreadPage() {
  return <Page title="Thread">{null}</Page>
}
