/** Input request of a server during a call: a form, or a page to open. */
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, TextCursorInput } from 'lucide-react'
import { useId, useState } from 'react'
import { problemOf, toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Button } from '../../ui/form/button.tsx'
import { defaultsOf } from '../schema-form/defaults-of.ts'
import { SchemaForm } from '../schema-form/schema-form.tsx'
import { checkValue, type ValueProblem } from '../schema-form/validator.ts'
import { type InputAnswer, type ServerInput, useAnswerInput } from './queries.ts'

interface Question {
  mode?: string
  message?: string
  requestedSchema?: unknown
  url?: string
}

export const inputId = ({ id }: Pick<ServerInput, 'id'>): string => `input-${id}`

interface InputCardProps {
  input: ServerInput
  /** Called after this card resolved the request. */
  onResolved?: ((action: InputAnswer['action']) => void) | undefined
}

export function InputCard({ input, onResolved }: InputCardProps) {
  const titleId = useId()
  const { data: toolkits } = useQuery(toolkitsQuery())
  const name = toolkits?.find(({ id }) => id === input.toolkit)?.name ?? input.toolkit
  const { message, mode, url, requestedSchema } = input.question as Question
  const answering = useAnswerInput(input.id, onResolved)
  const isGone = answering.isError && problemOf(answering.error).code === 'not-found'
  const isOver = answering.isSuccess || isGone
  return (
    <article
      id={inputId(input)}
      tabIndex={-1}
      aria-labelledby={titleId}
      className="grid min-w-0 gap-3 rounded-xl border bg-surface p-4 shadow-flat sm:p-5"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 id={titleId} className="font-medium wrap-anywhere">
          {name} <span className="font-normal text-ink-muted">asks you</span>
        </h3>
        <span className="inline-flex h-6 items-center gap-1.5 rounded-full bg-act-soft px-2 text-xs font-medium text-act">
          <TextCursorInput aria-hidden className="size-3.5" />
          Input needed
        </span>
      </header>
      {message && <p className="text-sm wrap-anywhere whitespace-pre-wrap">{message}</p>}
      {isOver ? (
        <p role="status" className="text-sm">
          {isGone ? 'It is no longer asked: it was answered elsewhere, or the call is over.' : 'Answered.'}
        </p>
      ) : mode === 'url' && url ? (
        <PageQuestion url={url} name={name} busy={answering.isPending} onAnswer={answering.mutate} />
      ) : (
        <FormQuestion schema={requestedSchema} name={name} answering={answering} />
      )}
      {answering.isError && !isGone && <ProblemNotice error={answering.error} folded />}
    </article>
  )
}

interface FormProps {
  schema: unknown
  name: string
  answering: ReturnType<typeof useAnswerInput>
}

function FormQuestion({ schema, name, answering }: FormProps) {
  const [value, setValue] = useState<unknown>(() => defaultsOf(schema))
  const [problems, setProblems] = useState<readonly ValueProblem[]>([])
  const [isReadable, setReadable] = useState(true)
  const refused = answering.isError ? contentProblems(answering.error) : []
  const send = () => {
    const found = checkValue(schema, value)
    setProblems(found)
    if (found.length === 0 && isReadable)
      answering.mutate({ action: 'accept', content: (value ?? {}) as Record<string, unknown> })
  }
  return (
    <>
      {schema !== undefined && (
        <SchemaForm
          schema={schema}
          label={`What ${name} asks for`}
          value={value}
          problems={problems.length > 0 ? problems : refused}
          onReadable={setReadable}
          onChange={(next) => {
            setValue(next)
            setProblems([])
          }}
        />
      )}
      <p className="text-[0.8125rem] text-ink-muted">
        What you send goes to {name}. Give it no password of another place.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" size="small" aria-disabled={answering.isPending} onClick={send}>
          Send
        </Button>
        <Refusals busy={answering.isPending} onAnswer={answering.mutate} />
      </div>
    </>
  )
}

interface AnswerProps {
  busy: boolean
  onAnswer: (answer: InputAnswer) => void
}

function Refusals({ busy, onAnswer }: AnswerProps) {
  return (
    <>
      <Button size="small" aria-disabled={busy} onClick={() => onAnswer({ action: 'decline' })}>
        Decline
      </Button>
      <Button size="small" variant="quiet" aria-disabled={busy} onClick={() => onAnswer({ action: 'cancel' })}>
        Cancel
      </Button>
    </>
  )
}

/** Shows the full URL, so that the user sees its host before opening it. */
function PageQuestion({ url, name, busy, onAnswer }: AnswerProps & { url: string; name: string }) {
  const address = URL.parse(url)
  const isPage = address?.protocol === 'https:' || address?.protocol === 'http:'
  return (
    <>
      <p className="text-sm">
        {name} wants you to open a page{address ? ` of ${address.host}` : ''}:
        <span className="mt-1 block font-mono text-[0.8125rem] wrap-anywhere text-ink-muted">{url}</span>
      </p>
      <div className="flex flex-wrap gap-2">
        {isPage && (
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            onClick={() => onAnswer({ action: 'accept' })}
            className="inline-flex h-8 items-center gap-2 rounded-lg bg-ink px-2.5 text-[0.8125rem] font-medium text-canvas hover:bg-ink/88"
          >
            <ExternalLink aria-hidden className="size-4" /> Open the page
          </a>
        )}
        <Refusals busy={busy} onAnswer={onAnswer} />
      </div>
    </>
  )
}

/** The API prefixes error paths with `content`. */
function contentProblems(error: unknown): ValueProblem[] {
  return (problemOf(error).errors ?? []).map(({ path, message }) => ({
    path: path === 'content' ? '(root)' : path.replace(/^content\./, ''),
    message,
  }))
}
