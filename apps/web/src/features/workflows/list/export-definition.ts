import type { Definition } from '../definition/definition.ts'

/** Downloads a definition as a file. */
export function exportDefinition(definition: Definition): void {
  const file = new Blob([`${JSON.stringify(definition, null, 2)}\n`], { type: 'application/json' })
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = `${fileName(definition.name)}.workflow.json`
  link.click()
  URL.revokeObjectURL(address)
}

const fileName = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'workflow'
