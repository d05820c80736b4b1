import { expect, it } from 'vitest'
import { pickIcon } from './tool-icon.tsx'

const [svg, png] = ['data:image/svg+xml;base64,PHN2Zy8+', 'DATA:image/png;base64,iVBORw0KGgo=']

it('shows an embedded icon, first one that fits both themes', () => {
  expect(pickIcon([{ src: 'https://example.com/icon.png' }, { src: png, theme: 'dark' }, { src: svg }])).toBe(svg)
  expect(pickIcon([{ src: png, theme: 'dark' }])).toBe(png)
})

it('loads no icon from another host', () => {
  expect(pickIcon([{ src: 'https://example.com/icon.png' }])).toBeUndefined()
  expect(pickIcon(undefined)).toBeUndefined()
})
