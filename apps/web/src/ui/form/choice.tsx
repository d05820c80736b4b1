import { RadioGroup } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../cn.ts'

export interface Option<T extends string> {
  value: T
  label: string
  hint?: string
  icon?: ReactNode
  /** Disabled option; its hint says why. */
  disabled?: boolean
}

interface ChoiceProps<T extends string> {
  label: string
  value: T
  options: ReadonlyArray<Option<T>>
  onChange: (value: T) => void
}

/** Segmented control. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
  iconOnly = false,
}: ChoiceProps<T> & { iconOnly?: boolean }) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      orientation="horizontal"
      onValueChange={(next) => onChange(next as T)}
      className="inline-flex rounded-lg border border-line bg-sunken p-0.5"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          aria-label={iconOnly ? option.label : undefined}
          title={iconOnly ? option.label : undefined}
          className={cn(
            'inline-flex h-7 items-center gap-1.5 rounded-md border border-transparent text-[0.8125rem] font-medium text-ink-muted transition-colors hover:text-ink data-[state=checked]:border-line data-[state=checked]:bg-raised data-[state=checked]:text-ink data-[state=checked]:shadow-flat [&_svg]:size-3.5',
            iconOnly ? 'w-8 justify-center' : 'px-2.5',
          )}
        >
          {option.icon}
          {!iconOnly && option.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  )
}

/** Radio cards with a hint for each option. */
export function ChoiceCards<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as T)}
      className="grid grid-cols-2 gap-2"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          disabled={option.disabled}
          className="flex items-start gap-3 rounded-lg border border-line bg-raised p-3 text-left transition-colors hover:border-line-strong disabled:cursor-not-allowed disabled:border-dashed disabled:bg-sunken disabled:hover:border-line data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft data-[state=checked]:inset-ring data-[state=checked]:inset-ring-accent [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-muted data-[state=checked]:[&_svg]:text-accent"
        >
          {option.icon}
          <span className="grid gap-0.5">
            <span className="text-sm font-medium">{option.label}</span>
            <span className="text-[0.8125rem] leading-snug text-ink-muted">{option.hint}</span>
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  )
}
