import { Page } from '../../ui/page.tsx'

export function ToolsPage() {
  return <Page title="Tools">{null}</Page>
}
