import { Button } from '../../../../ui/form/button.tsx'
import { Field, FieldError, FieldHint } from '../../../../ui/form/field.tsx'
import { Select } from '../../../../ui/form/input.tsx'
import { JsonText } from '../../../schema-form/json-text.tsx'
import type { OnError, WorkflowNode } from '../../definition/definition.ts'
import { atField } from '../../definition/problems.ts'
import { behindOf, nodeOwners } from '../../graph/graph.ts'
import { NodeChoice, NodeChoices } from '../node-choice.tsx'
import { CountInput } from './count-input.tsx'
import { type NodeFieldsProps, TRIED } from './node-fields.ts'

/** Fields of every node kind: order, retries and error handling. */
export function SharedFields({ node, definition, change, problems }: NodeFieldsProps) {
  return (
    <div className="grid gap-5">
      <NodeChoices
        label="Runs after"
        definition={definition}
        except={[node.id, ...nodeOwners(definition).keys(), ...behindOf(definition, node.id)]}
        value={node.after ?? []}
        onChange={(after) => change({ after })}
        error={atField(problems, 'after')}
        hint="What its expressions name is waited for anyway."
      />
      <TryFields node={node} change={change} problems={problems} />
      <OnErrorFields node={node} definition={definition} change={change} problems={problems} />
    </div>
  )
}

type TryProps = Pick<NodeFieldsProps, 'node' | 'change' | 'problems'>

/** Timeout and retries, if the kind supports them. */
function TryFields({ node, change, problems }: TryProps) {
  const { timeoutMs, retry, type } = node
  const takes = TRIED[type]
  const changeRetry = (patch: Partial<NonNullable<WorkflowNode['retry']>>) => {
    const next = { ...retry, ...patch }
    change({ retry: next.attempts === undefined ? undefined : { ...next, attempts: next.attempts } })
  }
  return (
    <>
      <NotTaken node={node} change={change} problems={problems} />
      {(takes.timeoutMs || takes.retry) && (
        <div className="grid items-start gap-4 sm:grid-cols-2">
          {takes.timeoutMs && (
            <CountInput
              optional
              label="Timeout (ms)"
              value={timeoutMs}
              onChange={(value) => change({ timeoutMs: value })}
              error={atField(problems, 'timeoutMs')}
              hint="Of one attempt."
            />
          )}
          <CountInput
            optional
            label="Attempts"
            value={retry?.attempts}
            onChange={(attempts) => changeRetry({ attempts })}
            error={atField(problems, 'retry.attempts')}
            hint="In all, up to 10."
          />
          <CountInput
            optional
            label="Wait between (ms)"
            value={retry?.backoffMs}
            onChange={(backoffMs) => changeRetry({ backoffMs })}
            error={atField(problems, 'retry.backoffMs')}
            hint="1000 if not given."
          />
          <CountInput
            optional
            label="Each wait times"
            value={retry?.factor}
            onChange={(factor) => changeRetry({ factor })}
            error={atField(problems, 'retry.factor')}
            hint="2 if not given."
          />
        </div>
      )}
    </>
  )
}

const FIELD_LABELS = { timeoutMs: 'timeout', retry: 'retries' } as const

/** Unsupported fields of an imported definition, with a remove button. */
function NotTaken({ node, change, problems }: TryProps) {
  const fields = (['timeoutMs', 'retry'] as const).filter(
    (field) => node[field] !== undefined && !TRIED[node.type][field],
  )
  return fields.map((field) => (
    <div key={field} className="flex flex-wrap items-center justify-between gap-3">
      <FieldError>
        {atField(problems, field) ?? `This kind of node has no ${FIELD_LABELS[field]}; it would not be saved.`}
      </FieldError>
      <Button size="small" onClick={() => change({ [field]: undefined })}>
        Remove its {FIELD_LABELS[field]}
      </Button>
    </div>
  ))
}

type ErrorMode = 'fail' | 'continue' | 'value' | 'node'

const errorModeOf = (onError: OnError | undefined): ErrorMode => {
  if (onError === undefined || typeof onError === 'string') return onError ?? 'fail'
  return 'node' in onError ? 'node' : 'value'
}

const STARTS: Record<ErrorMode, OnError> = {
  fail: 'fail',
  continue: 'continue',
  value: { value: null },
  node: { node: '' },
}

function OnErrorFields({
  node,
  definition,
  change,
  problems,
}: Pick<NodeFieldsProps, 'node' | 'definition' | 'change' | 'problems'>) {
  const { onError } = node
  const mode = errorModeOf(onError)
  const ownedIds = [...nodeOwners(definition)].filter(([, by]) => by !== node.id).map(([id]) => id)
  return (
    <div className="grid gap-4">
      <Field
        label="If it fails"
        error={mode === 'fail' || mode === 'continue' ? atField(problems, 'onError') : undefined}
      >
        {(control) => (
          <Select
            {...control}
            value={mode}
            onChange={({ target }) => change({ onError: STARTS[target.value as ErrorMode] })}
          >
            <option value="fail">The run fails</option>
            <option value="continue">Go on without its output</option>
            <option value="value">Go on with a value</option>
            <option value="node">Run another node instead</option>
          </Select>
        )}
      </Field>
      {typeof onError === 'object' && 'node' in onError && (
        <NodeChoice
          label="Node to run instead"
          definition={definition}
          except={[node.id, ...ownedIds]}
          value={onError.node}
          onChange={(id) => change({ onError: { node: id } })}
          error={atField(problems, 'onError')}
          hint="It reads why as error.message; its output takes the place."
        />
      )}
      {typeof onError === 'object' && 'value' in onError && (
        <div className="grid gap-1.5">
          <span className="text-sm font-medium">Value in its place</span>
          <JsonText
            label="Value in its place"
            value={onError.value}
            onChange={(value) => change({ onError: { value: value ?? null } })}
            lines={3}
          />
          {atField(problems, 'onError') && <FieldError>{atField(problems, 'onError')}</FieldError>}
          <FieldHint>Texts may hold expressions: “{'{{ error.message }}'}”.</FieldHint>
        </div>
      )}
    </div>
  )
}
