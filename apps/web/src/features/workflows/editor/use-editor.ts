/** The state of the editor: the definition as it is on the page, what is wrong with it, and what is saved of it. */
import { useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import type { Definition } from '../definition/definition.ts'
import { movedWith, type Problem } from '../definition/problems.ts'
import type { Preflight, Workflow } from '../queries.ts'
import { useCheckWorkflow, useSaveWorkflow } from '../use-workflows.ts'

export interface Editor {
  definition: Definition
  change: (next: Definition) => void
  problems: readonly Problem[]
  /** What a look ahead found, of what is saved. */
  preflight: Preflight | undefined
  isChanged: boolean
  /** The version that another page saved while this one has changes. */
  elsewhere: number | undefined
  /** Takes what is saved in place of what is here. */
  takeSaved: () => void
  /** Whether the last check found nothing. */
  isFine: boolean
  save: () => void
  isSaving: boolean
  check: () => void
  isChecking: boolean
  /** What could not be done, and why. */
  error: Error | null
}

interface Options {
  initial: Definition
  workflow: Workflow | undefined
  onSaved: (saved: Workflow) => void
}

export function useEditor({ initial, workflow, onSaved }: Options): Editor {
  const [definition, setDefinition] = useState(initial)
  // A new one is unsaved from the beginning, and nothing is lost with what nobody wrote.
  const [stored, setStored] = useState(initial)
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const [preflight, setPreflight] = useState<Preflight>()
  const [isFine, setFine] = useState(false)
  const saving = useSaveWorkflow(workflow?.id)
  const checking = useCheckWorkflow()
  const isChanged = !isSame(definition, stored)
  const [version, setVersion] = useState(workflow?.version)
  const [elsewhere, setElsewhere] = useState<number>()
  // Saved elsewhere: taken over where nothing would be lost; else it is said, and the next save makes a version of what is here.
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
  const found = (errors: readonly Problem[]) => {
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
  // A save that found a newer version is told by the notice of it, once that is here.
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
