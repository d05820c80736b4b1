/** Annotation badges of a tool. */
import { ToolBadges } from '../servers/tools/tool-badges.tsx'
import type { Tool } from './tool-rows.ts'

export const AnnotationBadges = ({ tool, short = false }: { tool: Tool; short?: boolean }) => (
  <ToolBadges annotations={tool.annotations} short={short} />
)
