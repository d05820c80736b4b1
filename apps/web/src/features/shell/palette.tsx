import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import type { PaletteState } from './palette-state.ts'

const Content = lazy(() => import('./palette-content.tsx').then(({ PaletteContent }) => ({ default: PaletteContent })))

/** Command palette state, opened with Ctrl K or ⌘K. */
export function usePalette(): PaletteState {
  const [isOpen, setOpen] = useState(false)
  const before = useRef<Element | null>(null)
  const open = useCallback(() => {
    before.current = document.activeElement
    setOpen(true)
  }, [])
  const close = useCallback(() => setOpen(false), [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      open()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [open])
  const onClosed = useCallback(() => {
    if (before.current instanceof HTMLElement) before.current.focus()
  }, [])
  return { isOpen, open, close, onClosed }
}

export function Palette(state: PaletteState) {
  if (!state.isOpen) return null
  return (
    <Suspense fallback={null}>
      <Content {...state} />
    </Suspense>
  )
}
