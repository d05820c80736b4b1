import { Page } from '../../ui/page.tsx'

export function WorkflowPage() {
  return <Page title="Workflow">{null}</Page>
}
