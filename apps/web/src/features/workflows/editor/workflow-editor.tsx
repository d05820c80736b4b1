import { getRouteApi } from '@tanstack/react-router'
import { CircleCheck, History, Play, Save, ShieldCheck } from 'lucide-react'
import { useRef, useState } from 'react'
import { UnsavedDialog } from '../../../lib/unsaved.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../../ui/layout/tabs.tsx'
import type { Definition } from '../definition/definition.ts'
import { clearImportDraft } from '../list/import-draft.ts'
import type { Workflow } from '../queries.ts'
import { RunDialog } from '../runs/run-dialog.tsx'
import { RunList } from '../runs/run-list.tsx'
import { BuildView } from './build-view.tsx'
import { JsonEditor } from './json-editor.tsx'
import { Findings } from './preflight-results.tsx'
import { type Editor, useEditor } from './use-editor.ts'
import { useUnsavedPage } from './use-unsaved-page.ts'
import { VersionsView } from './versions-view.tsx'

const route = getRouteApi('/shell/workflows/$id')
const VIEWS = ['build', 'json', 'versions', 'runs'] as const
const RUN_BUTTON = 'run-workflow'

interface WorkflowEditorProps {
  initial: Definition
  workflow?: Workflow
  /** Whether the workflow is not stored yet, so that it can be saved unchanged. */
  isNew?: boolean
}

export function WorkflowEditor({ initial, workflow, isNew = false }: WorkflowEditorProps) {
  const navigate = route.useNavigate()
  const { view: requestedView } = route.useSearch()
  const view = VIEWS.find((value) => value === requestedView) ?? 'build'
  const [isRunning, setRunning] = useState(false)
  const isLeaving = useRef(false)
  const editor = useEditor({
    initial,
    workflow,
    onSaved: ({ id }) => {
      if (!isNew) return
      clearImportDraft()
      isLeaving.current = true
      navigate({ to: '/workflows/$id', params: { id }, search: ({ node }) => ({ node }), replace: true })
    },
  })
  const show = (next: string) =>
    navigate({
      search: (old) => ({ ...old, view: next === 'build' ? undefined : next }),
      resetScroll: false,
      replace: true,
    })
  return (
    <Page
      wide
      title={editor.definition.name.trim() || 'New workflow'}
      description={<VersionStatus workflow={workflow} editor={editor} />}
      actions={<Actions editor={editor} workflow={workflow} isNew={isNew} onRun={() => setRunning(true)} />}
    >
      {editor.elsewhere !== undefined && <Elsewhere version={editor.elsewhere} onTake={editor.takeSaved} />}
      <Findings editor={editor} />
      <Tabs value={view} onValueChange={show}>
        <TabList aria-label="Views of the workflow">
          <Tab value="build">Build</Tab>
          <Tab value="json">JSON</Tab>
          {workflow && <Tab value="versions">Versions</Tab>}
          {workflow && <Tab value="runs">Runs</Tab>}
        </TabList>
        <TabPanel value="build">
          <BuildView editor={editor} />
        </TabPanel>
        <TabPanel value="json">
          <JsonEditor editor={editor} />
        </TabPanel>
        {workflow && (
          <TabPanel value="versions">
            <VersionsView editor={editor} workflow={workflow} onRestored={() => show('build')} />
          </TabPanel>
        )}
        {workflow && (
          <TabPanel value="runs">
            <RunList title="Runs" workflowId={workflow.id} />
          </TabPanel>
        )}
      </Tabs>
      {isRunning && workflow && (
        <RunDialog
          workflow={workflow}
          onClose={() => setRunning(false)}
          onClosed={() => document.getElementById(RUN_BUTTON)?.focus()}
        />
      )}
      <Unsaved isUnsaved={() => editor.isChanged && !isLeaving.current} />
    </Page>
  )
}

function VersionStatus({ workflow, editor }: { workflow: Workflow | undefined; editor: Editor }) {
  if (!workflow) return <>Not saved yet. Saving makes version 1.</>
  return (
    <>
      Version {workflow.version}
      {editor.isChanged ? ', with changes that are not saved.' : '.'}
    </>
  )
}

/** Notice about a version saved elsewhere. Both versions are kept. */
const Elsewhere = ({ version, onTake }: { version: number; onTake: () => void }) => (
  <section
    role="status"
    aria-label="Saved elsewhere"
    className="flex flex-wrap items-center gap-3 rounded-xl border border-act/30 bg-act-soft/50 p-3.5 text-sm"
  >
    <History aria-hidden className="size-4 shrink-0 text-act" />
    <p className="min-w-0 flex-1 basis-64">
      <span className="font-medium">Version {version} was saved elsewhere.</span> Saving what you have here makes the
      version after it; that one stays in Versions.
    </p>
    <Button size="small" onClick={onTake}>
      Discard my changes
    </Button>
  </section>
)

interface ActionsProps {
  editor: Editor
  workflow: Workflow | undefined
  isNew: boolean
  onRun: () => void
}

function Actions({ editor, workflow, isNew, onRun }: ActionsProps) {
  const mayRun = workflow !== undefined && !editor.isChanged
  return (
    <div className="flex flex-wrap gap-2">
      <Button aria-disabled={editor.isChecking} onClick={editor.check}>
        {editor.isFine ? <CircleCheck aria-hidden className="text-good" /> : <ShieldCheck aria-hidden />}
        {editor.isChecking ? 'Checking…' : 'Check'}
      </Button>
      <Button
        id={RUN_BUTTON}
        aria-disabled={!mayRun}
        title={mayRun ? undefined : 'Save it first'}
        onClick={() => mayRun && onRun()}
      >
        <Play aria-hidden /> Run
      </Button>
      <Button
        variant="primary"
        aria-disabled={editor.isSaving || (!isNew && !editor.isChanged)}
        onClick={() => (isNew || editor.isChanged) && editor.save()}
      >
        <Save aria-hidden /> {editor.isSaving ? 'Saving…' : 'Save'}
      </Button>
    </div>
  )
}

function Unsaved({ isUnsaved }: { isUnsaved: () => boolean }) {
  const leaving = useUnsavedPage(isUnsaved)
  return (
    <UnsavedDialog leaving={leaving}>
      <p>What you changed in this workflow has not been saved.</p>
    </UnsavedDialog>
  )
}
