/** Array templates with labelled add, move and remove buttons. */
import type { ArrayFieldItemTemplateProps, ArrayFieldTemplateProps } from '@rjsf/utils'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Button } from '../../ui/form/button.tsx'
import { errorsId, type FormContext, InTuple } from './form-context.ts'
import { Errors, Group } from './form-templates.tsx'

const addId = (listId: string): string => `${listId}__add`

export function ArrayTemplate(props: ArrayFieldTemplateProps) {
  const { canAdd, items, onAddClick, fieldPathId, title, schema, required, registry, disabled, readonly, rawErrors } =
    props
  const { label, idPrefix } = registry.formContext as FormContext
  const id = fieldPathId.$id
  const name = id === idPrefix ? label : title
  return (
    <Group id={id} title={name} description={schema.description} required={required || id === idPrefix}>
      {items.length > 0 && (
        <InTuple value={Array.isArray(schema.items)}>
          <ol className="grid min-w-0 gap-2">{items}</ol>
        </InTuple>
      )}
      <Errors id={errorsId(id)} messages={rawErrors} />
      {canAdd && (
        <Button
          id={addId(id)}
          size="small"
          className="w-fit"
          aria-label={`Add an item to ${name}`}
          disabled={disabled || readonly}
          onClick={onAddClick}
        >
          <Plus aria-hidden /> Add item
        </Button>
      )}
    </Group>
  )
}

export function ArrayItemTemplate({ children, buttonsProps, index, hasToolbar }: ArrayFieldItemTemplateProps) {
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem, fieldPathId } = buttonsProps
  const off = buttonsProps.disabled || buttonsProps.readonly
  const item = `item ${index + 1}`
  const remove = () => {
    onRemoveItem()
    // The pressed button disappears, so the focus moves to the add button.
    document.getElementById(addId(fieldPathId.$id.replace(/_\d+$/, '')))?.focus()
  }
  return (
    <li className="flex min-w-0 items-start gap-1.5">
      <div className="min-w-0 flex-1">{children}</div>
      {hasToolbar && (
        <div className="flex shrink-0">
          {(hasMoveUp || hasMoveDown) && (
            <>
              <Small aria-label={`Move ${item} up`} disabled={off || !hasMoveUp} onClick={onMoveUpItem}>
                <ArrowUp aria-hidden />
              </Small>
              <Small aria-label={`Move ${item} down`} disabled={off || !hasMoveDown} onClick={onMoveDownItem}>
                <ArrowDown aria-hidden />
              </Small>
            </>
          )}
          {hasRemove && (
            <Small aria-label={`Remove ${item}`} disabled={off} onClick={remove}>
              <X aria-hidden />
            </Small>
          )}
        </div>
      )}
    </li>
  )
}

const Small = (props: ComponentProps<typeof Button>) => (
  <Button variant="quiet" size="icon" className="w-7" {...props} />
)
