import {
  Activity,
  CircleCheckBig,
  type LucideIcon,
  MessagesSquare,
  Plug,
  Settings,
  ShieldCheck,
  Workflow,
  Wrench,
} from 'lucide-react'

interface NavigationPage {
  to: '/connectors' | '/tools' | '/threads' | '/approvals' | '/workflows' | '/activity' | '/settings' | '/operator'
  label: string
  icon: LucideIcon
  /** Only for operators. */
  operator?: true
}

/** Pages of navigation and palette, in order. A new page needs a route in `routes.tsx` and an entry here. */
export const PAGES: readonly NavigationPage[] = [
  { to: '/connectors', label: 'MCP servers', icon: Plug },
  { to: '/tools', label: 'Tools', icon: Wrench },
  { to: '/threads', label: 'Threads', icon: MessagesSquare },
  { to: '/approvals', label: 'Approvals', icon: CircleCheckBig },
  { to: '/workflows', label: 'Workflows', icon: Workflow },
  { to: '/activity', label: 'Activity', icon: Activity },
  { to: '/settings', label: 'Settings', icon: Settings },
  { to: '/operator', label: 'Operator', icon: ShieldCheck, operator: true },
]
