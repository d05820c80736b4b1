/** Links from a page to a file of the repository: the site shows them as paths, since it has no copy of the file. */
import { isAbsolute, join, normalize } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

const isOutside = (href: string, page: string): boolean => {
  if (/^([a-z]+:|#|\/)/.test(href) || isAbsolute(href)) return false
  return normalize(join(page, '..', href)).startsWith('..')
}

export function linkSources(md: MarkdownRenderer): void {
  md.core.ruler.push('source-links', (state) => {
    const page = String(state.env.relativePath ?? '')
    for (const { children } of state.tokens)
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type !== 'link_open' || !isOutside(token.attrGet('href') ?? '', page)) continue
        const close = children?.slice(index).find(({ type }) => type === 'link_close')
        token.tag = 'span'
        token.attrs = [['class', 'source-file']]
        token.type = 'source_open'
        if (close) [close.tag, close.type] = ['span', 'source_close']
      }
  })
}
