//! bytedelta
