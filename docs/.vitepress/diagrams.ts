/** Renders `mermaid` blocks to SVG at build time. The colors are variables of the site, so one SVG serves both themes. */
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

const COLORS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-3)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-divider)',
  transparent: true,
}

/** An SVG without its web font: the site loads nothing from other hosts. */
export const diagram = (source: string): string =>
  renderMermaidSVG(source, COLORS).replaceAll(/@import url\([^)]*\);?/g, '')

export function renderDiagrams(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, ...rest) ?? ''
    return `<div class="diagram" role="img" v-pre>${diagram(token.content)}</div>`
  }
}
