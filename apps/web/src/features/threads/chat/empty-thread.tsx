import { Braces, type LucideIcon, MessagesSquare, Search } from 'lucide-react'
import { Empty } from '../../../ui/data/empty.tsx'
import type { Mode } from '../thread-search.ts'

const LABELS: Record<Mode, { icon: LucideIcon; title: string; text: string }> = {
  ask: {
    icon: MessagesSquare,
    title: 'Ask something',
    text: 'The model gets the tools that fit your words, and finds others itself. Under each answer stands which were chosen, why, and how many tokens that saved. What needs your approval is asked here.',
  },
  find: {
    icon: Search,
    title: 'Find tools',
    text: 'Say what should be done. You see what a model would get with these words: the tools, their scores, the reasons, and what they cost. Then try one, or use it in a program.',
  },
  program: {
    icon: Braces,
    title: 'Run a program',
    text: 'TypeScript in a sandbox, in which the tools of this thread are functions. Every call is a step that is kept; one that needs your approval waits for it, and the program goes on.',
  },
}

export function EmptyThread({ mode }: { mode: Mode }) {
  const { icon, title, text } = LABELS[mode]
  return (
    <Empty icon={icon} title={title}>
      {text}
    </Empty>
  )
}
