import { Page } from '../../ui/page.tsx'

export function CustomPage() {
  return <Page title="Custom toolkit">{null}</Page>
}
