import { Import } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { counted } from '../../ui/time-words.ts'
import type { OlderConfig } from './older-config.ts'

interface OlderOfferProps {
  config: OlderConfig
  onLook: () => void
  onLeave: () => void
  onRemove: () => void
}

export function OlderOffer({ config, onLook, onLeave, onRemove }: OlderOfferProps) {
  return (
    <section aria-labelledby="older-config" className="grid gap-3 rounded-xl border bg-surface p-4 shadow-flat">
      <div className="grid gap-0.5">
        <h2 id="older-config" className="flex items-center gap-2 text-sm font-semibold">
          <Import aria-hidden className="size-4 text-ink-muted" />
          An older set-up left {counted(config.count, 'server')} in this browser
        </h2>
        <p className="text-sm text-ink-muted">Look at them first; nothing is taken until you say so.</p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button size="small" variant="primary" onClick={onLook}>
          Look at them
        </Button>
        <Button size="small" onClick={onLeave}>
          Not now
        </Button>
        <Button size="small" variant="quiet" onClick={onRemove}>
          Remove them from this browser
        </Button>
      </div>
    </section>
  )
}
