import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../form/button.tsx'

const FEEDBACK_MS = 2000

/** Copies a text and confirms in place. */
export function CopyButton({
  text,
  label,
  children = 'Copy',
}: {
  text: () => string
  label: string
  children?: string
}) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'failed'>('no')
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text()).then(
      () => 'yes' as const,
      () => 'failed' as const,
    )
    setCopied(done)
    setTimeout(() => setCopied('no'), FEEDBACK_MS)
  }
  return (
    <Button size="small" variant="quiet" aria-label={label} onClick={copy}>
      {copied === 'yes' ? <Check aria-hidden /> : <Copy aria-hidden />}
      <span aria-live="polite">{{ no: children, yes: 'Copied', failed: 'Not permitted' }[copied]}</span>
    </Button>
  )
}
