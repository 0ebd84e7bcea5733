import type { components } from './generated/api.ts';

type Schemas = components['schemas'];

export type Shipment = Schemas['Shipment'];
export type ShipmentFields = Schemas['ShipmentFields'];
export type ShipmentWritten = Schemas['ShipmentWritten'];
export type Milestone = Schemas['Milestone'];
export type MilestoneFields = Schemas['MilestoneFields'];
export type MilestoneWritten = Schemas['MilestoneWritten'];
export type ShipmentException = Schemas['Exception'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeadLetterSummary = Schemas['WebhookDeadLetterSummary'];
export type WebhookReplay = Schemas['WebhookReplay'];
export type WorkspaceSettings = Schemas['WorkspaceSettings'];
export type Warning = Schemas['Warning'];
export type FieldError = Schemas['FieldError'];
