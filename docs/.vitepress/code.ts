/** Keeps Vue from reading `{{ … }}` in inline code as its own template syntax. */
import type { MarkdownRenderer } from 'vitepress'

export function keepBraces(md: MarkdownRenderer): void {
  md.renderer.rules.code_inline = (tokens, index) =>
    `<code v-pre>${md.utils.escapeHtml(tokens[index]?.content ?? '')}</code>`
}
