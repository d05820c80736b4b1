import { Link } from '@tanstack/react-router'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { type DefinitionProblem, sentenceOf } from '../definition/problems.ts'
import { SignInOffer } from './sign-in-offer.tsx'
import { refsNeedingSignIn } from './sign-in-refs.ts'
import type { Editor } from './use-editor.ts'

const MAX_PROBLEMS = 20

/** Problems of the last save or check, each with a link to its node. */
export function Findings({ editor }: { editor: Editor }) {
  const { error, problems, preflight, isFine } = editor
  const isPlaced = error !== null && (problemOf(error).errors ?? []).length > 0
  return (
    <>
      {error && !isPlaced && <ProblemNotice error={error} />}
      {problems.length > 0 && <Problems editor={editor} />}
      {isFine && <Fine preflight={preflight} />}
      {preflight && (preflight.warnings.length > 0 || preflight.unseen.length > 0) && (
        <Warnings preflight={preflight} />
      )}
    </>
  )
}

function Problems({ editor: { definition, problems, preflight } }: { editor: Editor }) {
  return (
    <div role="alert" className="flex gap-3 rounded-xl border border-bad-line bg-bad-soft p-3.5 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="grid min-w-0 flex-1 gap-1.5">
        <p className="font-medium text-bad">{counted(problems.length, 'problem')} to mend</p>
        <ul className="grid gap-1">
          {problems.slice(0, MAX_PROBLEMS).map((problem) => (
            <li key={`${problem.path} ${problem.message}`} className="wrap-anywhere">
              <ProblemLink problem={problem} ids={definition.nodes.map(({ id }) => id)} />{' '}
              {sentenceOf({ ...problem, field: fieldIn(problem) })}
            </li>
          ))}
          {problems.length > MAX_PROBLEMS && <li>and {problems.length - MAX_PROBLEMS} more</li>}
        </ul>
        <SignInOffer refs={refsNeedingSignIn(preflight?.problems ?? [])} />
      </div>
    </div>
  )
}

const fieldIn = ({ path }: DefinitionProblem) => path.replace(/^nodes\.\d+\.?/, '')

function ProblemLink({ problem: { path }, ids }: { problem: DefinitionProblem; ids: readonly string[] }) {
  const node = ids[Number(/^nodes\.(\d+)/.exec(path)?.[1] ?? -1)]
  return (
    <Link
      from="/workflows/$id"
      to="."
      search={(old) => ({ ...old, node, view: undefined })}
      resetScroll={false}
      className="font-medium underline underline-offset-4"
    >
      {node ?? 'Workflow'}
    </Link>
  )
}

function Fine({ preflight }: { preflight: Editor['preflight'] }) {
  return (
    <p
      role="status"
      className="flex items-center gap-2.5 rounded-xl border border-transparent bg-good-soft px-3.5 py-2.5 text-sm text-good"
    >
      <CircleCheck aria-hidden className="size-4 shrink-0" />
      {preflight
        ? 'It is whole, and nothing would stop a run now.'
        : 'The definition is whole. Save it to check what a run would meet.'}
    </p>
  )
}

function Warnings({ preflight: { warnings, unseen } }: { preflight: NonNullable<Editor['preflight']> }) {
  return (
    <ul className="grid gap-1 rounded-xl border bg-surface px-3.5 py-2.5 text-sm text-ink-muted">
      {warnings.map((warning) => (
        <li key={warning} className="wrap-anywhere">
          {warning}
        </li>
      ))}
      {unseen.length > 0 && <li>Nobody looked at {unseen.join(', ')} yet: a run does so first.</li>}
    </ul>
  )
}
