export interface PaletteState {
  isOpen: boolean
  open: () => void
  close: () => void
  /** Restores the focus. */
  onClosed: () => void
}
