import { LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { cn } from '../../../ui/cn.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Textarea } from '../../../ui/form/input.tsx'
import { DialogFooter } from '../../../ui/overlay/dialog.tsx'
import { type Draft, newSecret } from '../form/draft.ts'
import type { ImportedEntry } from '../queries.ts'
import { ImportEntry } from './import-entry.tsx'
import type { Pasted } from './read-pasted.ts'
import type { Paste } from './use-paste.ts'

interface PasteTabProps {
  paste: Paste
  tabs: ReactNode
  /** Moves a pasted URL or command to its tab. */
  onTake: (changes: Partial<Draft>) => void
  onClose: () => void
}

const EXAMPLE = `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }
  }
}`

export function PasteTab({ paste, tabs, onTake, onClose }: PasteTabProps) {
  const { text, pasted, preview, save, selected } = paste
  // The text field shrinks once the preview is loaded, so that the entries are visible.
  const isRead = pasted.kind === 'config' && preview.data !== undefined && preview.error === null
  const isBroken = pasted.kind === 'config' && preview.error !== null && paste.isFresh
  return (
    <>
      <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
        {save.error && <ProblemNotice error={save.error} />}
        {tabs}
        <Field
          label="Config"
          error={isBroken ? problemOf(preview.error).detail : undefined}
          hint="From Claude, Cursor, VS Code and others: mcpServers, servers, or one server. Comments may stay. A command line or a URL works too."
        >
          {(control) => (
            <Textarea
              {...control}
              data-first
              autoCapitalize="off"
              value={text}
              placeholder={EXAMPLE}
              className={cn('min-h-36 font-mono text-[0.8125rem]', isRead ? 'max-h-36' : 'max-h-72')}
              onChange={(event) => paste.change(event.target.value)}
            />
          )}
        </Field>
        <Elsewhere pasted={pasted} onTake={onTake} />
        {pasted.kind === 'config' && !isBroken && <Report paste={paste} />}
      </div>
      <DialogFooter>
        {save.isPending && <Busy label="Importing…" />}
        <Button onClick={onClose}>{save.isPending ? 'Close' : 'Cancel'}</Button>
        <Button
          variant="primary"
          disabled={selected.length === 0}
          aria-disabled={save.isPending || !paste.isFresh}
          onClick={() => !save.isPending && paste.isFresh && save.mutate()}
        >
          {formatImportLabel(selected)}
        </Button>
      </DialogFooter>
    </>
  )
}

function formatImportLabel(entries: readonly ImportedEntry[]): string {
  const replaced = entries.filter(({ status }) => status === 'updated').length
  const added = entries.length - replaced
  if (replaced === 0) return added === 0 ? 'Import' : `Import ${counted(added, 'server')}`
  return added === 0 ? `Replace ${counted(replaced, 'server')}` : `Add ${added}, replace ${replaced}`
}

function Report({ paste }: { paste: Paste }) {
  const { preview, report } = paste
  const current = report ?? preview.data
  if (!current) return <Busy label="Reading…" />
  return (
    <section aria-labelledby="import-report" className="grid gap-2">
      <h3 id="import-report" className="text-sm font-medium">
        <span role="status">{report ? 'What became of it' : `${counted(current.entries.length, 'server')} found`}</span>
      </h3>
      {current.warnings.map((warning) => (
        <p key={warning} className="text-[0.8125rem] text-ink-muted">
          {warning}.
        </p>
      ))}
      <ul className="divide-y rounded-xl border">
        {current.entries.map((entry) => (
          <ImportEntry key={`${entry.name} ${entry.status}`} entry={entry} paste={paste} done={report !== undefined} />
        ))}
      </ul>
    </section>
  )
}

function Elsewhere({ pasted, onTake }: { pasted: Pasted; onTake: PasteTabProps['onTake'] }) {
  if (pasted.kind !== 'url' && pasted.kind !== 'command') return null
  const isUrl = pasted.kind === 'url'
  const take = () =>
    onTake(
      isUrl
        ? { type: 'http', url: pasted.url }
        : {
            type: 'stdio',
            command: pasted.command,
            args: pasted.args.join('\n'),
            env: pasted.env.map(([name, text], key) => ({ key, name, value: { ...newSecret(), text } })),
          },
    )
  return (
    <p role="status" className="flex flex-wrap items-center gap-3 rounded-xl border bg-sunken/50 p-3.5 text-sm">
      <span className="min-w-0 flex-1 basis-48">
        {isUrl ? 'This is the URL of a server.' : 'This is a command line.'}
      </span>
      <Button size="small" onClick={take}>
        {isUrl ? 'Use it as the URL' : 'Use it as the command'}
      </Button>
    </p>
  )
}

function Busy({ label }: { label: string }) {
  return (
    <p role="status" className="mr-auto flex items-center gap-2 text-[0.8125rem] text-busy">
      <LoaderCircle aria-hidden className="size-4 motion-safe:animate-spin" /> {label}
    </p>
  )
}
