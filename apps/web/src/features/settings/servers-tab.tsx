import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, Download } from 'lucide-react'
import { useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Card } from '../../ui/data/card.tsx'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Select } from '../../ui/form/input.tsx'
import { Section } from '../operator/section.tsx'

const FORMATS = {
  mcpServers: 'mcpServers: Claude, Cursor, Windsurf and most others',
  vscode: 'servers and inputs: VS Code',
} as const
type Format = keyof typeof FORMATS

/** Export of the user's servers, and a link to the import. */
export function ServersTab() {
  return (
    <>
      <Export />
      <Section
        title="Import"
        note="Servers of a config of another app, with what becomes of each before anything is saved."
      >
        <Link
          to="/connectors"
          search={{ add: 'paste' }}
          className="inline-flex h-9 items-center gap-2 justify-self-start rounded-lg border bg-surface px-3.5 text-sm font-medium shadow-flat hover:bg-sunken"
        >
          Paste a config <ArrowRight aria-hidden className="size-4" />
        </Link>
      </Section>
    </>
  )
}

function Export() {
  const [format, setFormat] = useState<Format>('mcpServers')
  const show = useMutation({
    mutationFn: (of: Format) => answer(client.api.mcp.export.$get({ query: { format: of } })),
  })
  const text = show.data ? JSON.stringify(show.data, null, 2) : ''
  return (
    <Section
      title="Export"
      note="Your own servers as a config that other apps read. Secrets are placeholders, never values."
    >
      <Card className="grid gap-4 p-4 sm:p-5">
        <div className="flex flex-wrap items-end gap-2">
          <Field label="Format" className="min-w-0 flex-1 basis-60">
            {(control) => (
              <Select
                {...control}
                value={format}
                onChange={(event) => {
                  setFormat(event.target.value as Format)
                  show.reset()
                }}
              >
                {Object.entries(FORMATS).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Button aria-disabled={show.isPending} onClick={() => show.mutate(format)}>
            {show.isPending ? 'Reading…' : 'Show'}
          </Button>
        </div>
        {show.error && <ProblemNotice error={show.error} />}
        {show.data && (
          <>
            <JsonView label="Config" value={show.data} />
            <div className="flex flex-wrap gap-2">
              <Button
                size="small"
                onClick={() => saveFile(`${format === 'vscode' ? 'mcp' : 'mcp-servers'}.json`, text)}
              >
                <Download aria-hidden /> Save as a file
              </Button>
              <CopyButton text={() => text} label="Copy the config" />
            </div>
          </>
        )}
      </Card>
    </Section>
  )
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
