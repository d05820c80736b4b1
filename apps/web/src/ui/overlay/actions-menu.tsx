import { Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../form/button.tsx'
import { Menu, MenuContent, MenuTrigger } from './menu.tsx'

interface ActionsMenuProps {
  /** Element id for focus restoration. */
  id: string
  /** Name of the item. */
  of: string
  className?: string
  children: ReactNode
}

/** Menu with the actions of a row. */
export function ActionsMenu({ id, of, className = '', children }: ActionsMenuProps) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          id={id}
          variant="quiet"
          size="icon"
          aria-label={`Actions for ${of}`}
          className="-mr-2 data-[state=open]:bg-sunken"
        >
          <Ellipsis aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent className={className}>{children}</MenuContent>
    </Menu>
  )
}
