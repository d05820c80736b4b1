import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { Button } from '../../ui/form/button.tsx'

/** Copies a text and confirms in place. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      toast.error('It could not be copied', { description: 'The browser does not permit it here.' })
    }
  }
  return (
    <Button size="small" variant="quiet" aria-label={label} onClick={copy} onBlur={() => setCopied(false)}>
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />} {copied ? 'Copied' : 'Copy'}
    </Button>
  )
}
