/** Icons and `_meta` of tools: bounded, never a reason to lose a tool, not part of what a user accepts (R12). */
import { describe, expect, it } from 'vitest'
import { fingerprintOf } from './fingerprint.ts'
import { readManifests } from './read-manifests.ts'

const SVG = 'data:image/svg+xml;base64,PHN2Zy8+'
const tool = (more: object, name = 'one') => ({ name, inputSchema: { type: 'object' }, ...more })
const read = async (more: object) => {
  const { manifests, setAside, warnings } = await readManifests([tool(more)])
  expect(setAside).toEqual([])
  return { manifest: manifests[0], warnings }
}

describe('icons', () => {
  it('keeps embedded pictures and https addresses with their sizes and theme', async () => {
    const icons = [
      { src: SVG, mimeType: 'image/svg+xml', sizes: ['any'], theme: 'dark' },
      { src: 'https://example.com/icon.png' },
    ]
    expect(await read({ icons })).toEqual({ manifest: tool({ icons }), warnings: [] })
  })

  it.for([
    ['a script', { src: 'javascript:alert(1)' }],
    ['an unencrypted address', { src: 'http://example.com/icon.png' }],
    ['a page', { src: 'data:text/html,<script>1</script>' }],
    ['a large picture', { src: `data:image/png;base64,${'A'.repeat(65_536)}` }],
    ['no source', {}],
    ['a text with NUL', { src: `${SVG}\0` }],
  ] as const)('skips %s with a warning and keeps the tool and its other icons', async ([, bad]) => {
    const { manifest, warnings } = await read({ icons: [bad, { src: SVG }] })
    expect(manifest).toEqual(tool({ icons: [{ src: SVG }] }))
    expect(warnings).toEqual([expect.stringMatching(/^Icons of "one" were skipped\. .* at most 64 KB\.$/)])
  })

  it('skips what is no list', async () => {
    expect(await read({ icons: SVG })).toMatchObject({ manifest: tool({}), warnings: [expect.stringContaining('one')] })
  })

  it('keeps the first eight', async () => {
    const { manifest, warnings } = await read({ icons: Array.from({ length: 9 }, () => ({ src: SVG })) })
    expect(manifest?.icons).toHaveLength(8)
    expect(warnings).toEqual(['"one" has 9 icons; the first 8 are kept.'])
  })

  it('keeps at most 4 MB of them per server', async () => {
    const src = `data:image/png;base64,${'A'.repeat(65_000)}`
    const items = Array.from({ length: 80 }, (_, n) => tool({ icons: [{ src }] }, `t${n}`))
    const { manifests, warnings } = await readManifests(items)
    expect(manifests).toHaveLength(80)
    const withIcons = manifests.filter(({ icons }) => icons !== undefined)
    expect(withIcons.map(({ name }) => name)).toEqual(Array.from({ length: withIcons.length }, (_, n) => `t${n}`))
    expect(JSON.stringify(withIcons).length).toBeLessThan(4.1 * 1024 * 1024)
    expect(warnings).toEqual([expect.stringContaining(`of ${80 - withIcons.length} tools were skipped`)])
  })
})

describe('_meta', () => {
  it('is kept as it is', async () => {
    const _meta = { 'example.com/b': [1, null], 'example.com/a': { deep: true } }
    expect(await read({ _meta })).toEqual({ manifest: tool({ _meta }), warnings: [] })
  })

  it.for([
    ['a list', [1]],
    ['a text', 'x'],
    ['more than 16 KB', { text: 'ä'.repeat(8192) }],
    ['a text with NUL', { text: '\0' }],
  ] as const)('is skipped with a warning where it is %s', async ([, _meta]) => {
    const { manifest, warnings } = await read({ _meta })
    expect(manifest).toEqual(tool({}))
    expect(warnings).toEqual([expect.stringMatching(/^The `_meta` of "one" was skipped\./)])
  })
})

it('are no part of the fingerprint', async () => {
  const { manifest } = await read({ icons: [{ src: SVG }], _meta: { a: 1 } })
  expect(await fingerprintOf(manifest as never)).toBe(await fingerprintOf(tool({})))
})
