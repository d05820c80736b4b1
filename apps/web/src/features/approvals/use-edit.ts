/** Edit state of an approval's arguments, if the rule permits edits. */
import { useState } from 'react'
import { checkArguments, type ValueProblem } from '../schema-form/validator.ts'
import type { Approval, ApprovalAnswer } from './queries.ts'
import type { ApprovalTool } from './risk.ts'

export interface Edit {
  isOpen: boolean
  begin: () => void
  drop: () => void
  value: unknown
  change: (value: unknown) => void
  problems: readonly ValueProblem[]
  setReadable: (isReadable: boolean) => void
  /** Edited arguments for the answer; undefined if they are invalid. */
  edited: () => Pick<ApprovalAnswer, 'arguments'> | undefined
}

export function useEdit(approval: Approval, tool: ApprovalTool): Edit {
  const [value, setValue] = useState<unknown>(undefined)
  const [problems, setProblems] = useState<readonly ValueProblem[]>([])
  const [isReadable, setReadable] = useState(true)
  const isOpen = value !== undefined
  return {
    isOpen,
    value,
    problems,
    begin: () => setValue(approval.arguments),
    drop: () => {
      setValue(undefined)
      setProblems([])
      setReadable(true)
    },
    change: (next) => {
      setValue(next ?? {})
      setProblems([])
    },
    setReadable,
    edited: () => {
      if (!isOpen) return {}
      const found = checkArguments(tool.inputSchema, value)
      setProblems(found)
      return found.length > 0 || !isReadable ? undefined : { arguments: value as ApprovalAnswer['arguments'] }
    },
  }
}
