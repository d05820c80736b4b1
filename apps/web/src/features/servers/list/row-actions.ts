/** Actions and element ids of a row. */
import type { Toolkit } from '../../../lib/api.ts'

export interface RowActions {
  onSwitch: (toolkit: Toolkit, enabled: boolean) => void
  onOpen: (toolkit: Toolkit, open: boolean) => void
  onEdit: (toolkit: Toolkit) => void
  onDelete: (toolkit: Toolkit) => void
}

export const menuId = ({ uscoId }: Toolkit): string => `actions-${uscoId}`
export const openerId = ({ uscoId }: Toolkit): string => `open-${uscoId}`
