/**
 * Form for a third-party JSON Schema, with the same value as JSON. A schema that the form cannot show falls back to
 * JSON with a note.
 */
import type { RJSFSchema } from '@rjsf/utils'
import { Info } from 'lucide-react'
import { Component, lazy, type ReactNode, Suspense, useCallback, useId, useMemo, useRef, useState } from 'react'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/layout/tabs.tsx'
import { JsonText } from './json-text.tsx'
import { readSchema } from './read-schema.ts'
import type { ValueProblem } from './validator.ts'

export interface ValueProps {
  schema: unknown
  value: unknown
  onChange: (value: unknown) => void
  /** Problems by path: `items.0.name` or `(root)`. */
  problems?: readonly ValueProblem[] | undefined
  /** Accessible name. */
  label: string
  readOnly?: boolean
  /** Reports whether all shown text is valid; invalid text is not part of the value. */
  onReadable?: ((isReadable: boolean) => void) | undefined
}

const NONE: readonly ValueProblem[] = []
const RjsfForm = lazy(() => import('./rjsf-form.tsx').then((module) => ({ default: module.RjsfForm })))

export function SchemaForm({ idPrefix, ...props }: ValueProps & { idPrefix?: string }) {
  const { schema, value, onChange, problems = NONE, label, readOnly = false, onReadable } = props
  const ownId = `f${useId().replaceAll(/[^a-zA-Z0-9]/g, '')}`
  const read = useMemo(() => readSchema(schema), [schema])
  const onText = useReadable(onReadable)
  const asJson = (reason: string) => (
    <div className="grid gap-2">
      <NotDrawn reason={reason} />
      <JsonText
        label={label}
        value={value}
        onChange={onChange}
        problems={problems}
        readOnly={readOnly}
        onText={(isReadable) => onText('json', isReadable)}
      />
    </div>
  )
  if (!read.ok) return asJson(read.reason)
  if (isEmpty(read.schema)) return <p className="text-sm text-ink-muted">There is nothing to fill in.</p>
  if (!isDrawable(read.schema.type, value)) return asJson('The value is not of the kind that the fields are for.')
  return (
    <Catch of={schema} fallback={asJson('Its fields cannot be drawn.')}>
      <Suspense fallback={<Loading />}>
        <RjsfForm
          value={value}
          onChange={onChange}
          problems={problems}
          label={label}
          readOnly={readOnly}
          onText={onText}
          schema={read.schema}
          idPrefix={idPrefix ?? ownId}
        />
      </Suspense>
    </Catch>
  )
}

/** Small, because it is often nested in other tabs. */
const TAB =
  'mb-0 h-7 rounded-md border border-transparent px-2.5 text-[0.8125rem] data-[state=active]:border-line data-[state=active]:bg-raised data-[state=active]:shadow-flat disabled:opacity-55'

/** The value as a form and as JSON. */
export function ValueEditor(props: ValueProps) {
  const { label, value, onChange, problems = NONE, readOnly, onReadable } = props
  const [view, setView] = useState('form')
  const [isReadable, setReadable] = useState(true)
  const onText = (next: boolean) => {
    setReadable(next)
    onReadable?.(next)
  }
  // Switching tabs would discard invalid text.
  const choose = (next: string) => (isReadable || next === view) && setView(next)
  return (
    <Tabs value={view} onValueChange={choose} activationMode="manual">
      <TabList aria-label={`${label} as`} className="w-fit gap-0 rounded-lg border border-line bg-sunken p-0.5">
        <Tab value="form" disabled={!isReadable && view !== 'form'} className={TAB}>
          Form
        </Tab>
        <Tab value="json" disabled={!isReadable && view !== 'json'} className={TAB}>
          JSON
        </Tab>
      </TabList>
      <TabPanel value="form" className="pt-4">
        <SchemaForm {...props} onReadable={onText} />
      </TabPanel>
      <TabPanel value="json" className="pt-4">
        <JsonText
          label={label}
          value={value}
          onChange={onChange}
          problems={problems}
          readOnly={readOnly}
          onText={onText}
        />
      </TabPanel>
    </Tabs>
  )
}

/** Combines several JSON texts of one form: all must be valid. */
function useReadable(onReadable: ValueProps['onReadable']) {
  const broken = useRef(new Set<string>())
  const latest = useRef(onReadable)
  latest.current = onReadable
  return useCallback((id: string, isReadable: boolean) => {
    const before = broken.current.size
    if (isReadable) broken.current.delete(id)
    else broken.current.add(id)
    if ((before === 0) !== (broken.current.size === 0)) latest.current?.(broken.current.size === 0)
  }, [])
}

const isEmpty = ({ type, properties, additionalProperties, ...rest }: RJSFSchema): boolean =>
  type === 'object' &&
  Object.keys(properties ?? {}).length === 0 &&
  !additionalProperties &&
  !['patternProperties', 'allOf', 'anyOf', 'oneOf', 'if', 'dependencies'].some((key) => key in rest)

function isDrawable(type: unknown, value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value)
  return type !== 'array' || Array.isArray(value)
}

function NotDrawn({ reason }: { reason: string }) {
  return (
    <p className="flex items-start gap-2 rounded-lg border border-line bg-sunken px-3 py-2 text-[0.8125rem] text-ink-muted">
      <Info aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      <span>There is no form for this schema, so it is written as JSON. {reason}</span>
    </p>
  )
}

function Loading() {
  return (
    <div role="status" className="grid gap-4">
      <span className="sr-only">Loading the form</span>
      {['w-24', 'w-32'].map((width) => (
        <div key={width} className="grid gap-2">
          <Skeleton className={`h-4 ${width}`} />
          <Skeleton className="h-9 w-full rounded-lg" />
        </div>
      ))}
    </div>
  )
}

interface CatchProps {
  /** A new value resets the error. */
  of: unknown
  fallback: ReactNode
  children: ReactNode
}

class Catch extends Component<CatchProps, { broken: boolean; of: unknown }> {
  override state = { broken: false, of: this.props.of }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  static getDerivedStateFromProps({ of }: CatchProps, state: { of: unknown }) {
    return of === state.of ? null : { of, broken: false }
  }

  override render() {
    return this.state.broken ? this.props.fallback : this.props.children
  }
}
