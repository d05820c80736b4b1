import { type LucideIcon, Plug } from 'lucide-react'

interface NavigationPage {
  to: '/connectors'
  label: string
  icon: LucideIcon
}

/** What the navigation lists, in this order. A new page is a route in `routes.tsx` and a line here. */
export const PAGES: readonly NavigationPage[] = [{ to: '/connectors', label: 'MCP servers', icon: Plug }]
