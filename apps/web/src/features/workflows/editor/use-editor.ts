/** Editor state: definition, problems, saving and checking. */
import { useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import type { Definition } from '../definition/definition.ts'
import { type DefinitionProblem, movedWith } from '../definition/problems.ts'
import type { Preflight, Workflow } from '../queries.ts'
import { useCheckWorkflow, useSaveWorkflow } from '../use-workflows.ts'

export interface Editor {
  definition: Definition
  change: (next: Definition) => void
  problems: readonly DefinitionProblem[]
  /** Preflight result of the saved version. */
  preflight: Preflight | undefined
  isChanged: boolean
  /** Version that was saved elsewhere while this page has changes. */
  elsewhere: number | undefined
  /** Replaces the draft with the saved version. */
  takeSaved: () => void
  /** Whether the last check found no problems. */
  isFine: boolean
  save: () => void
  isSaving: boolean
  check: () => void
  isChecking: boolean
  /** Error of the last save or check. */
  error: Error | null
}

interface Options {
  initial: Definition
  workflow: Workflow | undefined
  onSaved: (saved: Workflow) => void
}

export function useEditor({ initial, workflow, onSaved }: Options): Editor {
  const [definition, setDefinition] = useState(initial)
  // An untouched new workflow can be left without a question.
  const [stored, setStored] = useState(initial)
  const [problems, setProblems] = useState<readonly DefinitionProblem[]>([])
  const [preflight, setPreflight] = useState<Preflight>()
  const [isFine, setFine] = useState(false)
  const saving = useSaveWorkflow(workflow?.id)
  const checking = useCheckWorkflow()
  const isChanged = !isSame(definition, stored)
  const [version, setVersion] = useState(workflow?.version)
  const [elsewhere, setElsewhere] = useState<number>()
  // A version saved elsewhere replaces an unchanged draft; a changed draft becomes the next version.
  if (workflow && workflow.version !== version && !saving.isPending) {
    setVersion(workflow.version)
    setStored(workflow.definition)
    if (!isChanged) setDefinition(workflow.definition)
    else setElsewhere(workflow.version)
  }

  const change = (next: Definition) => {
    setProblems((old) => movedWith(old, definition, next))
    setDefinition(next)
    setFine(false)
    setPreflight(undefined)
  }
  const found = (errors: readonly DefinitionProblem[]) => {
    setProblems(errors)
    setFine(errors.length === 0)
  }
  const save = () => {
    if (saving.isPending) return
    const tried = { definition, version }
    saving.mutate(tried, {
      onSuccess: (saved) => {
        setStored(saved.definition)
        setDefinition(saved.definition)
        setVersion(saved.version)
        setElsewhere(undefined)
        setProblems([])
        onSaved(saved)
      },
      onError: (error) => setProblems(problemOf(error).errors ?? []),
    })
  }
  const check = () => {
    if (checking.isPending) return
    saving.reset()
    const storedId = isChanged ? undefined : workflow?.id
    checking.mutate(
      { definition, storedId },
      {
        onSuccess: ({ errors, preflight: ahead }) => {
          found([...errors, ...(ahead?.problems ?? [])])
          setPreflight(ahead)
        },
      },
    )
  }
  // `Elsewhere` shows the conflict once the newer version is loaded.
  const hasConflictNotice = elsewhere !== undefined && saving.error !== null && problemOf(saving.error).status === 409
  return {
    definition,
    change,
    problems,
    preflight,
    isChanged,
    isFine,
    save,
    check,
    elsewhere: isChanged ? elsewhere : undefined,
    takeSaved: () => {
      change(stored)
      setElsewhere(undefined)
    },
    isSaving: saving.isPending,
    isChecking: checking.isPending,
    error: (hasConflictNotice ? null : saving.error) ?? checking.error,
  }
}

const isSame = (a: Definition, b: Definition) => JSON.stringify(a) === JSON.stringify(b)
